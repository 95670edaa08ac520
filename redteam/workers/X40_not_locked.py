# attack: X40 asks for work without having locked itself in
# task: spin
# expect: not_locked
import hostile
import worker_io

worker_io.tighten = lambda level: None
hostile.serve(hostile.Worker())
