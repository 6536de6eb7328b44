package sentence

// Ask is a question about a part of the trip that came up after the sentence was understood, such as a day on which
// nothing flies. AboutOf tells its About, so Continue can take the answer.
func Ask(about About, format string, a ...any) Question { return ask(about, format, a...) }
