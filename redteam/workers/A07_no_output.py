# attack: A7 sends back the input alone
# task: spin
# expect: bad_answer
import hostile


class Less(hostile.Worker):
    def fetch(self) -> hostile.Answer:
        return {}, self.blocks[:1]


hostile.serve(Less())
