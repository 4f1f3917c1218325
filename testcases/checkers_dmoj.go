package testcases

// dmojKinds are the checkers that DMOJ's init.yml calls by name. What takes a mode
// there is a kind of its own here: floats with error_mode absolute is floatsabs.
func dmojKinds() []CheckerKind {
	floats := func(name, about string) CheckerKind {
		return CheckerKind{Name: name, Version: 1, Options: []string{"precision"}, About: about}
	}
	return []CheckerKind{
		{Name: "dmoj/standard", Version: 1, About: "words are equal, and so is whether a new line is between them"},
		{Name: "dmoj/easy", Version: 1, About: "each letter is there as often, whatever its case and place"},
		floats("dmoj/floats", "line by line, words, where numbers may differ by 10^-precision, absolute or relative"),
		floats("dmoj/floatsabs", "the same, absolute alone"),
		floats("dmoj/floatsrel", "the same, relative alone"),
		{Name: "dmoj/identical", Version: 1, Words: []string{"no_pe"}, About: "every byte is equal"},
		{Name: "dmoj/linecount", Version: 1, Words: []string{"no_feedback"}, About: "points for each line that is equal but for blanks around it"},
		{Name: "dmoj/linematches", Version: 1, Words: []string{"filler_lines_optional"}, Lists: []string{"points"},
			About: "points for each line that is equal, as they are listed"},
		{Name: "dmoj/rstripped", Version: 1, Words: []string{"filter_new_line"}, About: "lines are equal but for blanks at their ends"},
		{Name: "dmoj/sorted", Version: 1, About: "the same lines in any order"},
		{Name: "dmoj/unordered", Version: 1, About: "the same words in any order"},
	}
}
