import java.io.*;
import java.util.*;

public class Recursive {
    static List<List<Integer>> children = new ArrayList<>();

    static int depth(int node) {
        int deepest = 0;
        for (int child : children.get(node)) deepest = Math.max(deepest, depth(child));
        return deepest + 1;
    }

    public static void main(String[] args) throws IOException {
        StreamTokenizer in = new StreamTokenizer(new BufferedReader(new InputStreamReader(System.in)));
        in.nextToken();
        int n = (int) in.nval;
        for (int i = 0; i <= n; i++) children.add(new ArrayList<>());
        for (int i = 2; i <= n; i++) {
            in.nextToken();
            children.get((int) in.nval).add(i);
        }
        System.out.println(depth(1));
    }
}
