#!/usr/bin/env python3
"""python_interface.py [--check] -- writes python/krein/_interface.py from include/krein.h.

The header is plain: enums, structs, callback types and functions, one declaration a `;`. Pointers
become

    krein_ctx * and other types without fields, numbers, void     c_void_p
    char *                                                        c_char_p
    char **                                                       POINTER(c_char_p)
    a struct                                                      POINTER(struct)

so that an address (`array.ctypes.data`) can be given for every array of numbers. A declaration that
is not understood is an error: nothing is left out in silence. With --check nothing is written, and
the exit status is 1 where the file is not what would be written.
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADER = os.path.join(ROOT, "include", "krein.h")
TARGET = os.path.join(ROOT, "python", "krein", "_interface.py")

SCALARS = {
    "char": "c_char",
    "int": "c_int",
    "size_t": "c_size_t",
    "int8_t": "c_int8",
    "int32_t": "c_int32",
    "int64_t": "c_int64",
    "uint64_t": "c_uint64",
    "float": "c_float",
    "double": "c_double",
}


class Header:
    """What the header declares, in its order."""

    def __init__(self, text):
        self.enums = []  # (name, [(constant, value)])
        self.structs = []  # (name, [(field, type)])
        self.callbacks = []  # (name, result, [types])
        self.functions = []  # (name, result, [types])
        self.order = []  # names of structs and callbacks, as they may be defined
        self.opaque = set()
        self.version = re.search(r'#define KREIN_VERSION_STRING "([^"]*)"', text).group(1)
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        self.status = [
            (name, int(value), said)
            for name, value, said in re.findall(r'STATUS\((\w+), (\d+), "([^"]*)"\)', text)
        ]
        text = re.sub(r"#ifdef __cplusplus.*?#endif", "", text, flags=re.S)
        text = re.sub(r"#(?:[^\n]*\\\n)*[^\n]*", "", text)
        text = text.replace("KREIN_STATUS_LIST(STATUS)", "")
        for declaration in self.split(text):
            self.declaration(declaration)

    @staticmethod
    def split(text):
        depth, start = 0, 0
        for at, letter in enumerate(text):
            depth += {"{": 1, "}": -1}.get(letter, 0)
            if letter == ";" and depth == 0:
                yield " ".join(text[start:at].split())
                start = at + 1
        if text[start:].strip():
            raise ValueError("the header ends in " + text[start:].strip()[:60])

    def declaration(self, text):
        match = re.fullmatch(r"typedef enum (\w+) \{(.*)\} \1", text)
        if match:
            self.enum(match.group(1), match.group(2))
            return
        match = re.fullmatch(r"typedef struct (\w+) \1", text)
        if match:
            self.opaque.add(match.group(1))
            return
        match = re.fullmatch(r"typedef struct (\w+) \{(.*)\} \1", text)
        if match:
            name, body = match.groups()
            fields = [
                field for line in body.split(";") if line.strip() for field in self.fields(line)
            ]
            self.structs.append((name, fields))
            self.order.append(name)
            return
        match = re.fullmatch(r"typedef (.+?)\(\*(\w+)\)\((.*)\)", text)
        if match:
            result, name, arguments = match.groups()
            self.callbacks.append((name, self.type(result), self.arguments(arguments)))
            self.order.append(name)
            return
        match = re.fullmatch(r"KREIN_API (.+?)(\w+)\((.*)\)", text)
        if match:
            result, name, arguments = match.groups()
            self.functions.append((name, self.type(result), self.arguments(arguments)))
            return
        raise ValueError("not understood: " + text[:80])

    def enum(self, name, body):
        if name == "krein_status":
            members = [(constant, value) for constant, value, _ in self.status]
        else:
            members = [
                (constant, int(value)) for constant, value in re.findall(r"(\w+) = (-?\d+)", body)
            ]
            if len(members) != len([part for part in body.split(",") if part.strip()]):
                raise ValueError("an enum with values that are not written out: " + name)
        self.enums.append((name, members))

    def fields(self, text):
        """`const char *a, *b`, `int64_t a[3]` and `krein_status (*next)(void *user)`."""
        text = text.strip()
        match = re.fullmatch(r"(.+?)\(\*(\w+)\)\((.*)\)", text)
        if match:
            result, name, arguments = match.groups()
            types = [self.type(result)] + self.arguments(arguments)
            yield name, "CFUNCTYPE(%s)" % ", ".join(types)
            return
        base = re.match(r"(?:const )?(\w+)", text).group(0)
        for declarator in text[len(base) :].split(","):
            name, count = re.search(r"(\w+)\s*(?:\[(\d+)\])?\s*$", declarator).groups()
            made = self.type(base + declarator[: declarator.rindex(name)])
            yield name, made + " * " + count if count else made

    def arguments(self, text):
        if text.strip() in ("", "void"):
            return []
        types = []
        for argument in text.split(","):
            name = re.search(r"(\w+)\s*$", argument).group(1)
            types.append(self.type(argument[: argument.rindex(name)]))
        return types

    def type(self, text):
        words = text.replace("const", " ").replace("*", " * ").split()
        name, stars = words[0], len(words) - 1
        if words[1:] != ["*"] * stars:
            raise ValueError("not a type: " + text)
        if stars == 0:
            return "None" if name == "void" else self.value(name)
        if name in self.opaque or name == "void" or (name in SCALARS and name != "char"):
            inner, stars = "c_void_p", stars - 1
        elif name == "char":
            inner, stars = "c_char_p", stars - 1
        else:
            inner = self.value(name)
        return "POINTER(" * stars + inner + ")" * stars

    def value(self, name):
        if name in SCALARS:
            return SCALARS[name]
        if name in [enum for enum, _ in self.enums]:
            return "c_int"
        if name in self.order:
            return name
        raise ValueError("an unknown type: " + name)


def write(header):
    lines = [
        '"""The C interface of libkrein for ctypes: constants, structs, callbacks and functions.',
        "",
        "Written by scripts/python_interface.py from include/krein.h. Do not edit.",
        '"""',
        "from ctypes import (",
    ]
    names = sorted(
        set(SCALARS.values()) | {"c_char_p", "c_void_p", "CFUNCTYPE", "POINTER", "Structure"}
    )
    lines += ["    %s," % name for name in names] + [")", ""]
    lines += ['VERSION = "%s"' % header.version, ""]
    lines += ["# Status -> (name, text)", "STATUS = {"]
    lines += ['    %d: ("%s", "%s"),' % (value, name, said) for name, value, said in header.status]
    lines += ["}", ""]
    for name, members in header.enums:
        lines += ["# " + name] + ["%s = %d" % member for member in members] + [""]
    structs, callbacks = dict(header.structs), {c[0]: c[1:] for c in header.callbacks}
    for name in header.order:
        if name in callbacks:
            result, types = callbacks[name]
            lines += ["", "%s = CFUNCTYPE(%s)" % (name, ", ".join([result] + types)), ""]
            continue
        lines += ["", "class %s(Structure):" % name, "    _fields_ = ["]
        lines += ['        ("%s", %s),' % field for field in structs[name]] + ["    ]", ""]
    lines += ["", "# Function -> (result, arguments)", "FUNCTIONS = {"]
    for name, result, types in header.functions:
        line = '    "%s": (%s, [%s]),' % (name, result, ", ".join(types))
        if len(line) <= 100:
            lines.append(line)
        else:
            lines += ['    "%s": (' % name, "        %s," % result, "        ["]
            lines += ["            %s," % item for item in types] + ["        ],", "    ),"]
    lines += ["}", ""]
    text = "\n".join(lines)
    return re.sub(r"\n{4,}", "\n\n\n", text)


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__.split(" -- ")[0], file=sys.stderr)
        return 2
    with open(HEADER) as file:
        text = write(Header(file.read()))
    if not arguments:
        with open(TARGET, "w") as file:
            file.write(text)
        return 0
    with open(TARGET) as file:
        if file.read() == text:
            return 0
    print("python/krein/_interface.py is not current: run scripts/python_interface.py")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
