package strictjson

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// refusedOnPurpose lists the documents that RFC 8259 allows and this package does not, each with the rule that it breaks.
var refusedOnPurpose = map[string]string{
	"y_number.json":                           RuleNumber,
	"y_number_double_close_to_zero.json":      RuleNumber,
	"y_number_real_capital_e.json":            RuleNumber,
	"y_number_real_exponent.json":             RuleNumber,
	"y_number_real_fraction_exponent.json":    RuleNumber,
	"y_object_duplicated_key.json":            RuleDuplicateKey,
	"y_object_duplicated_key_and_value.json":  RuleDuplicateKey,
	"y_object_escaped_null_in_key.json":       RuleControl,
	"y_object_extreme_numbers.json":           RuleNumber,
	"y_string_allowed_escapes.json":           RuleControl,
	"y_string_escaped_control_character.json": RuleControl,
	"y_string_null_escape.json":               RuleControl,
	"y_string_unescaped_char_delete.json":     RuleControl,
	"y_string_with_del_character.json":        RuleControl,
}

func TestJSONTestSuite(t *testing.T) {
	shared := cmp.Or(os.Getenv("PARLEY_SHARED"), filepath.Join("..", "..", "..", "shared"))
	files, err := filepath.Glob(filepath.Join(shared, "data", "JSONTestSuite", "test_parsing", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("JSONTestSuite is not here: set PARLEY_SHARED to the folder that holds data/JSONTestSuite")
	}
	for _, file := range files {
		name := filepath.Base(file)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		agree(t, data)
		err = Scan(data, anyRoot)
		rule, onPurpose := refusedOnPurpose[name]
		var broken *Error
		switch {
		case strings.HasPrefix(name, "n_") && err == nil:
			t.Errorf("%s is accepted", name)
		case onPurpose && (!errors.As(err, &broken) || broken.Rule != rule):
			t.Errorf("%s: got %v, want rule %s", name, err, rule)
		case strings.HasPrefix(name, "y_") && !onPurpose && err != nil:
			t.Errorf("%s is refused: %v", name, err)
		}
	}
}
