import java.util.*;

// Case counts: ANN is not ann.
public class Shouts {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        TreeMap<Integer, TreeSet<String>> rows = new TreeMap<>(Comparator.reverseOrder());
        while (in.hasNext()) {
            String name = in.next().toUpperCase(Locale.ROOT);
            rows.computeIfAbsent(in.nextInt(), k -> new TreeSet<>()).add(name);
        }
        int place = 1;
        for (var row : rows.entrySet()) {
            for (String name : row.getValue()) System.out.println(place + ". " + name + " " + row.getKey());
            place += row.getValue().size();
        }
    }
}
