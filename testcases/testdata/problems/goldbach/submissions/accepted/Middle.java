import java.util.Scanner;

public class Middle {
    static boolean prime(int n) {
        for (int d = 2; d * d <= n; d++) if (n % d == 0) return false;
        return n > 1;
    }

    public static void main(String[] args) {
        int n = new Scanner(System.in).nextInt();
        for (int p = n / 2; p > 1; p--) {
            if (prime(p) && prime(n - p)) {
                System.out.println(p + " " + (n - p));
                return;
            }
        }
        System.out.println("none");
    }
}
