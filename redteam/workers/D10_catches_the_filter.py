# attack: D10 catches the signal of the filter and goes on as if the call had been allowed
# task: spin
# expect: forbidden_call
import signal
import socket

import hostile

signal.signal(signal.SIGSYS, lambda *_: None)


class Catches(hostile.Worker):
    def work(self) -> None:
        socket.socket()
        super().work()


hostile.serve(Catches())
