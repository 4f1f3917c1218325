#include <sys/reboot.h>

// Asks for a kind of reboot that no kernel knows: only the call itself counts.
int main(void) {
    reboot(0x1234567);
    return 0;
}
