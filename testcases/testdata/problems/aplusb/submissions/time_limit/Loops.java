public class Loops {
    public static void main(String[] args) {
        for (long i = 0; ; i += 2) {
            if (i == 1) System.out.println(i);
        }
    }
}
