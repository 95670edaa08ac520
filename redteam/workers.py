"""x"""
def run_worker(attack): raise NotImplementedError
