#include <time.h>
#include <unistd.h>

// Works for 10 ms of CPU time and naps for 40 ms: too busy to be idle, and too
// idle for the CPU limit.
int main(void) {
    for (;;) {
        clock_t end = clock() + CLOCKS_PER_SEC / 100;
        while (clock() < end) {}
        usleep(40000);
    }
}
