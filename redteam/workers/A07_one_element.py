# attack: A7 sends back one element, which a comparison might broadcast
# task: spin
# expect: bad_answer
import hostile


class Short(hostile.Worker):
    def fetch(self) -> hostile.Answer:
        return {}, [self.blocks[0], self.blocks[1][:8196]]


hostile.serve(Short())
