# attack: X38 marks the bytes around its arrays, to know them again in the next call
# task: spin
# expect: out_of_bounds
import hostile


class Marks(hostile.Worker):
    def work(self) -> None:
        super().work()
        self.blocks[1][0] ^= 1
        self.blocks[0][-1] ^= 1


hostile.serve(Marks())
