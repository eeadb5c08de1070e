"""The generated files are current, and the structs are those of the C compiler."""

import ctypes
import os
import shutil
import subprocess
import sys
import unittest

from common import ROOT, Case

from krein import _interface, _library

CC = shutil.which(os.environ.get("CC", "cc")) or shutil.which("gcc") or shutil.which("clang")
HEADER = os.path.join(ROOT, "include", "krein.h")


def structs():
    return {
        name: value
        for name, value in vars(_interface).items()
        if isinstance(value, type)
        and issubclass(value, ctypes.Structure)
        and value is not ctypes.Structure
    }


class Interface(Case):
    def check(self, script):
        path = os.path.join(ROOT, "scripts", script)
        if not os.path.exists(path):
            self.skipTest("no checkout")
        done = subprocess.run([sys.executable, path, "--check"], stdout=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stdout.decode())

    def test_interface_is_current(self):
        self.check("python_interface.py")

    def test_tables_and_estimators_are_current(self):
        self.check("python_tables.py")

    @unittest.skipIf(CC is None, "no C compiler")
    @unittest.skipIf(not os.path.exists(HEADER), "no checkout")
    def test_layout(self):
        """Sizes and offsets by the compiler."""
        asked, lines = [], []
        for name, struct in structs().items():
            asked.append(ctypes.sizeof(struct))
            lines.append('printf("%%zu\\n", sizeof(%s));' % name)
            for field, _ in struct._fields_:
                asked.append(getattr(struct, field).offset)
                lines.append('printf("%%zu\\n", offsetof(%s, %s));' % (name, field))
        source = self.path("layout.c")
        with open(source, "w") as file:
            file.write("#include <krein.h>\n#include <stdio.h>\nint main(void) {\n")
            file.write("\n".join(lines) + "\nreturn 0;\n}\n")
        subprocess.check_call(
            [CC, "-I", os.path.dirname(HEADER), source, "-o", self.path("layout")]
        )
        said = subprocess.check_output([self.path("layout")]).split()
        self.assertEqual([int(v) for v in said], asked)
        self.assertGreater(len(asked), 200)

    def test_version(self):
        self.assertEqual(_library.library.krein_version().decode(), _interface.VERSION)

    def test_defaults_of_options(self):
        """The library fills as many bytes as it is told that there are."""
        for name, struct in structs().items():
            if name.endswith("_options"):
                made = _library.options(struct)
                self.assertEqual(made.size, ctypes.sizeof(struct), name)

    def test_every_status_has_an_exception(self):
        from krein import errors

        for status, (name, text) in _interface.STATUS.items():
            if status == _interface.KREIN_OK:
                continue
            raised = errors.of_status(status, "`lambda=2` and `seed`")
            self.assertIsInstance(raised, errors.KreinError, name)
            self.assertEqual(str(raised), "`lambda_=2` and `random_state`")
            self.assertIn(text, str(errors.of_status(status, "")))


if __name__ == "__main__":
    unittest.main()
