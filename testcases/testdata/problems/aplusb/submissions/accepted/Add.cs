using System;

class Add {
    static void Main() {
        string[] words = Console.In.ReadToEnd().Split((char[])null, StringSplitOptions.RemoveEmptyEntries);
        Console.WriteLine(long.Parse(words[0]) + long.Parse(words[1]));
    }
}
