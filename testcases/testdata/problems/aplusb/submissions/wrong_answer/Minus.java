import java.util.Scanner;

class Minus {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        System.out.println(in.nextLong() - in.nextLong());
    }
}
