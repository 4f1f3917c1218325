import java.util.*;

public class Spread {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in).useLocale(Locale.ROOT);
        double[] x = new double[in.nextInt()];
        for (int i = 0; i < x.length; i++) x[i] = in.nextDouble();
        double mean = Arrays.stream(x).average().getAsDouble();
        double square = Arrays.stream(x).map(v -> (v - mean) * (v - mean)).average().getAsDouble();
        System.out.println(mean + " " + Math.sqrt(square));
    }
}
