import java.util.*;

public class Grows {
    public static void main(String[] args) {
        List<byte[]> blocks = new ArrayList<>();
        for (;;) {
            byte[] block = new byte[1 << 20];
            Arrays.fill(block, (byte) 1);
            blocks.add(block);
        }
    }
}
