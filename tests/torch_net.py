"""torch_net.py FILES N H W C SPEC... -- a net by PyTorch in float64, for tests/test_net_torch.c.

FILES.p (parameters), FILES.v (a direction), FILES.x (n images h x w x c) are float32, FILES.y int32 classes. The layers
are specs as krein__net_add takes them. Written in float64, vectors like p: FILES.g, the gradient of the mean softmax
loss; FILES.Hv, its directional derivative; FILES.after, p with the running statistics of PyTorch's training mode; and
FILES.out, scores with statistics of the batch, then with those of FILES.after. Exits with 77 where there is no PyTorch.
"""

import re
import sys

try:
    import numpy as np
    import torch
except ImportError:
    sys.exit(77)
F = torch.nn.functional


def layers(specs, shape):
    """(name, options, first parameter, shapes of the parameters) of each layer, and the length of the vector."""
    out, first, shapes = [], 0, [shape]
    for spec in specs:
        name, inner = re.fullmatch(r"(\w+)(?:\((.*)\))?", spec).groups()
        o = dict(re.findall(r"(\w+)=(\w+)", inner or ""))
        h, w, c = shapes[-1]
        p = []
        if name == "conv":
            size, stride, pad, width = (int(o.get(k, d)) for k, d in (("size", 3), ("stride", 1), ("pad", 1), ("width", 0)))
            p = [(size, size, c, width)] + ([(width,)] if o.get("intercept") == "yes" else [])
            h, w, c = (h + 2 * pad - size) // stride + 1, (w + 2 * pad - size) // stride + 1, width
        elif name == "affine":
            p, (h, w, c) = [(h * w * c, int(o["width"])), (int(o["width"]),)], (1, 1, int(o["width"]))
        elif name == "batchnorm":
            p = [(c,)] * 4
        elif name in ("maxpool", "avgpool"):
            size = int(o.get("size", 2))
            h, w = (1, 1) if o.get("whole") == "yes" else (h // size, w // size)
        out.append((name, o, first, p))
        shapes.append((h, w, c))
        first += -(-sum(int(np.prod(s)) for s in p) // 16) * 16
    return out, first


def forward(net, th, x, training, after):
    """x: n x c x h x w."""
    seen = [x]
    for i, (name, o, first, shapes) in enumerate(net):
        p = []
        for s in shapes:
            p.append(th[first:first + int(np.prod(s))].reshape(s))
            first += int(np.prod(s))
        if name == "conv":
            x = F.conv2d(x, p[0].permute(3, 2, 0, 1), p[1] if len(p) > 1 else None, int(o.get("stride", 1)), int(o.get("pad", 1)))
        elif name == "affine":
            x = (x.permute(0, 2, 3, 1).flatten(1) @ p[0] + p[1])[:, :, None, None]
        elif name == "batchnorm":
            c = len(p[0])
            running = after[first - 2 * c:first]
            x = F.batch_norm(x, running[:c], running[c:], p[0], p[1], training, 0.1, 1e-5)
        elif name == "maxpool":
            x = F.max_pool2d(x, int(o.get("size", 2)))
        elif name == "avgpool":
            x = F.avg_pool2d(x, x.shape[2:] if o.get("whole") == "yes" else int(o.get("size", 2)))
        elif name == "add":
            z = seen[i - int(o["back"])]
            step, more = z.shape[2] // x.shape[2], (x.shape[1] - z.shape[1]) // 2
            x = x + F.pad(z[:, :, ::step, ::step], (0, 0, 0, 0, more, more))
        else:
            x = getattr(torch, name)(x)
        seen.append(x)
    return x.flatten(1)


def main(files, n, h, w, c, *specs):
    n, shape = int(n), (int(h), int(w), int(c))
    net, count = layers(specs, shape)
    p, v, x = (torch.from_numpy(np.fromfile(f"{files}.{k}", np.float32).astype(np.float64)) for k in ("p", "v", "x"))
    y = torch.from_numpy(np.fromfile(f"{files}.y", np.int32).astype(np.int64))
    assert len(p) == len(v) == count
    x, after = x.reshape(n, *shape).permute(0, 3, 1, 2), p.clone()
    th = p.clone().requires_grad_()
    first = forward(net, th, x, True, after)
    g, = torch.autograd.grad(F.cross_entropy(first, y), th, create_graph=True)
    Hv, = torch.autograd.grad(g @ v, th)
    with torch.no_grad():
        second = forward(net, after, x, False, after)
    for name, a in (("g", g), ("Hv", Hv), ("after", after), ("out", torch.cat([first, second]))):
        a.detach().numpy().tofile(f"{files}.{name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
