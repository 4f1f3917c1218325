import time

while True:
    end = time.process_time() + 0.01
    while time.process_time() < end:
        pass
    time.sleep(0.04)
