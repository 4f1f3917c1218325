public class Endless {
    static int down(int n) {
        return down(n + 1) + 1;
    }

    // On a stack of 1 MiB: unwinding one of 64 MiB takes more memory than the limit.
    public static void main(String[] args) {
        Thread thread = new Thread(null, () -> System.out.println(down(0)), "deep", 1 << 20);
        thread.setUncaughtExceptionHandler((t, error) -> {
            System.err.println(error);
            System.exit(1);
        });
        thread.start();
    }
}
