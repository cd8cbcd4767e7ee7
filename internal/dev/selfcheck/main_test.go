package selfcheck_test

import (
	"testing"

	"github.com/durosim/durosim/internal/sample"
)

func TestMain(m *testing.M) { sample.Main(m) }
