"""Every process that Warpsight starts: it ends when the one that started it ends, however that is.

`start.py` for programs, `pool.py` for our own functions, `guard.py` for how they end with us, `stop.py` for what a
signal does to a command. The jail has a stage of its own, which ends with its input; what runs in a jail ends with it.
A test holds that nobody else starts a process.
"""
