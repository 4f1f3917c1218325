public class shout {
    static String shout(String line) { return line.toUpperCase(); }
}
