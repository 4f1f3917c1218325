import java.nio.file.*;

public class grader {
    public static void main(String[] args) throws Exception {
        Files.writeString(Path.of("output.txt"), shout.shout(Files.readString(Path.of("input.txt"))));
    }
}
