import java.util.Scanner;

public class Countdown {
    public static void main(String[] args) {
        StringBuilder out = new StringBuilder();
        for (int n = new Scanner(System.in).nextInt(); n > 0; n--) out.append(n).append('\n');
        System.out.print(out);
    }
}
