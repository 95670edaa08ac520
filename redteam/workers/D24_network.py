# attack: D24 fetches the answer from the network
# task: spin
# expect: forbidden_call
import socket

import hostile


class Fetches(hostile.Worker):
    def work(self) -> None:
        with socket.create_connection(("127.0.0.1", 80), timeout=1) as peer:
            self.y[:] = float(peer.recv(1)[0])


hostile.serve(Fetches())
