# attack: C5 tells a longer time than has passed, to pass for somebody else
# task: spin
# expect: clock_disagrees
import hostile


class Longer(hostile.Worker):
    def go(self) -> hostile.Answer:
        self.work()
        return {"device_us": 1e9}, []


hostile.serve(Longer())
