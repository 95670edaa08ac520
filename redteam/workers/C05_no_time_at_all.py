# attack: C5 tells no time, or less than none
# task: spin
# expect: clock_disagrees bad_answer
import hostile


class Zero(hostile.Worker):
    def go(self) -> hostile.Answer:
        self.work()
        return {"device_us": 0.0 if self.calls % 2 else -1.0}, []


hostile.serve(Zero())
