package durosim_test

import (
	"os"
	"testing"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/internal/sample"
)

func TestMain(m *testing.M) {
	os.Setenv(durosim.EnvShrink, "1h") // what a test expects of a plan must not depend on the machine
	sample.Main(m)
}
