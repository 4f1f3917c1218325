public class Endless {
    public static void main(String[] args) {
        String line = "1".repeat(1000);
        for (;;) System.out.println(line);
    }
}
