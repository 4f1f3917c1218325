using System.Collections.Generic;

class Grows {
    static void Main() {
        var kept = new List<int[]>();
        while (true) {
            var part = new int[100000];
            for (int i = 0; i < part.Length; i++) part[i] = i;
            kept.Add(part);
        }
    }
}
