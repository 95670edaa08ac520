# attack: B11 answers questions that were not asked yet, all with the first one
# task: spin
# expect: bad_frame bad_answer
import hostile
import wire
import worker_io


class Ahead(hostile.Worker):
    def go(self) -> hostile.Answer:
        answer = super().go()
        for _ in range(20):
            worker_io.write_frame(wire.pack(*answer))
        return answer


hostile.serve(Ahead())
