"""Pages and figures in a real browser: Debian's chromium without a window, driven by python3-selenium.

    with Browser() as b:
        problems = b.problems(path)        # of a page or a figure, in both widths, light and dark
        b.shot(path, out, width=360, dark=True)

A problem is a line of text. What is looked at:

    console     no message
    requests    none but the file itself
    alternative every figure has a name for those who do not see it
    marks       every figure has some, and they are inside of its frame
    labels      texts of a figure do not overlap, and are not cut off
    width       a page is not wider than its window
    contrast    texts can be read on what is behind them (4.5, large ones 3)
    tables      every figure of a page has its data as a table behind a fold
    keyboard    the tab key reaches all that can be used, in the order of the page
"""

import json
import os
import pathlib
import shutil

WIDTHS = (360, 1280)
VIEWS = [(width, dark) for width in WIDTHS for dark in (False, True)]

# Everything is measured in pixels of the window. Marks may reach beyond the frame by half of their size.
LOOK = r"""
const problems = [], round = v => Math.round(v * 10) / 10;
const svgs = document.documentElement.tagName === 'svg' ? [document.documentElement]
    : [...document.querySelectorAll('figure svg, svg.chart')].filter(s => !s.closest('.legend'));
const name = s => (s.getAttribute('aria-label') || (s.querySelector(':scope > title') || {}).textContent || '').trim();
const shown = e => { const b = e.getBoundingClientRect(); return b.width > 0 && b.height > 0; };
const where = b => `${round(b.left)},${round(b.top)} ${round(b.width)}x${round(b.height)}`;
const frames = svg => {
    const list = [...svg.querySelectorAll('.frame')].map(f => f.getBoundingClientRect());
    return list.length ? list : [svg.getBoundingClientRect()];
};
svgs.forEach((svg, i) => {
    const label = `figure ${i + 1} (${name(svg).slice(0, 50) || 'without a name'})`, m = svg.getScreenCTM();
    if (!name(svg)) problems.push(`alternative: ${label} has no text alternative`);
    if (svg.getAttribute('role') !== 'img') problems.push(`alternative: ${label} is not said to be an image`);
    const own = svg.getBoundingClientRect();
    if (own.width < 40 || own.height < 20) { problems.push(`marks: ${label} is ${where(own)}`); return; }
    const kinds = '.mark, .line, .bar, .bars, .cell, .band, .thick, .whisker';
    const marks = [...svg.querySelectorAll(kinds)].filter(e => !e.closest('.legend'));
    if (marks.length === 0) problems.push(`marks: ${label} shows nothing`);
    let out = 0;
    for (const e of marks) {
        const b = e.getBoundingClientRect(), cx = (b.left + b.right) / 2, cy = (b.top + b.bottom) / 2;
        const point = e.matches('.mark'), slack = 2.5 * m.a;
        const fits = f => point ? cx >= f.left - 1 && cx <= f.right + 1 && cy >= f.top - 1 && cy <= f.bottom + 1
            : b.left >= f.left - slack && b.right <= f.right + slack && b.top >= f.top - slack && b.bottom <= f.bottom + slack;
        if (!frames(svg).some(fits) && out++ < 3)
            problems.push(`marks: ${label}: ${e.getAttribute('class')} at ${where(b)} is outside of its frame`);
    }
    const texts = [...svg.querySelectorAll('text')].filter(t => t.textContent.trim() && shown(t));
    const boxes = texts.map(t => t.getBoundingClientRect());
    let over = 0;
    for (let a = 0; a < texts.length; a++) {
        const p = boxes[a];
        if ((p.left < own.left - 1.5 || p.right > own.right + 1.5 || p.top < own.top - 1.5 || p.bottom > own.bottom + 1.5)
            && over++ < 3) problems.push(`labels: ${label}: "${texts[a].textContent}" is cut off`);
        for (let c = a + 1; c < texts.length; c++) {
            const q = boxes[c];
            const x = Math.min(p.right, q.right) - Math.max(p.left, q.left);
            const y = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
            if (x > 1.5 && y > 3.5 && over++ < 3)
                problems.push(`labels: ${label}: "${texts[a].textContent}" and "${texts[c].textContent}" overlap`);
        }
        const size = parseFloat(getComputedStyle(texts[a]).fontSize) * m.a;
        if (size < 8.5 && over++ < 3) problems.push(`labels: ${label}: "${texts[a].textContent}" has ${round(size)} pixels`);
    }
    const figure = svg.closest('figure');
    if (figure && !figure.querySelector('details table')) problems.push(`tables: ${label} has no table of its data`);
});
if (document.documentElement.tagName !== 'svg') {
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    if (wide > 0) {
        const e = [...document.body.querySelectorAll('*')].find(x => x.getBoundingClientRect().right > innerWidth + 1 &&
            !x.closest('.scroll'));
        problems.push(`width: the page is ${wide} pixels wider than the window` + (e ? `: ${e.tagName} ${e.className}` : ''));
    }
}
// ---- contrast
const numbers = c => { const v = (c.match(/[\d.]+/g) || []).map(Number); return v.length < 4 ? [...v, 1] : v; };
const light = v => { const f = v.slice(0, 3).map(x => x / 255).map(x => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
    return .2126 * f[0] + .7152 * f[1] + .0722 * f[2]; };
const behind = e => {
    for (let x = e; x; x = x.parentElement) {
        if (x.ownerSVGElement === null && x.tagName === 'svg') {
            const paper = x.querySelector('.paper');
            if (paper) return numbers(getComputedStyle(paper).fill);
        }
        const c = numbers(getComputedStyle(x).backgroundColor);
        if (c[3] > .5) return c;
    }
    return [255, 255, 255, 1];
};
const seen = new Set();
const every = [...document.querySelectorAll('text, p, h1, h2, h3, td, th, dt, dd, summary, a, li, figcaption, caption, span, small')];
for (const e of every) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !shown(e) || e.matches('.inside, .over')) continue;
    const style = getComputedStyle(e), c = numbers(e.tagName === 'text' ? style.fill : style.color), b = behind(e);
    const [x, y] = [light(c), light(b)].sort((p, q) => q - p), ratio = (x + .05) / (y + .05);
    const size = parseFloat(style.fontSize), least = size >= 24 || (size >= 18.6 && style.fontWeight >= 700) ? 3 : 4.5;
    const key = `${c} on ${b}`;
    if (ratio < least && !seen.has(key)) {
        seen.add(key);
        problems.push(`contrast: "${e.textContent.trim().slice(0, 30)}" has ${round(ratio)}, ${c.slice(0, 3)} on ${b.slice(0, 3)}`);
    }
}
return problems;
"""

# What a user can do something with, and does not move by itself into view of the tab key.
USABLE = r"""
const all = [...document.querySelectorAll('a[href], button, summary, input, select, textarea, [tabindex], svg.chart')];
const open = e => { for (let d = e.parentElement; d; d = d.parentElement)
    if (d.tagName === 'DETAILS' && !d.open && !(e.tagName === 'SUMMARY' && e.parentElement === d)) return false; return true; };
window.usable = all.filter(e => open(e) && getComputedStyle(e).visibility !== 'hidden' && getComputedStyle(e).display !== 'none'
    && !e.disabled);
window.usable.forEach((e, i) => e.dataset.order = i);
return window.usable.map(e => [e.tagName.toLowerCase(), (e.getAttribute('aria-label') || e.textContent).trim().slice(0, 40),
    e.tabIndex]);
"""
ACTIVE = "const e = document.activeElement; return e && e.dataset.order !== undefined ? Number(e.dataset.order) : -1;"


def missing():
    """What is not here, in words; None: all is."""
    try:
        import selenium.webdriver  # noqa: F401
    except ImportError:
        return "python3-selenium"
    if not (shutil.which("chromium") or shutil.which("chromium-browser")):
        return "chromium"
    if not shutil.which("chromedriver"):
        return "chromium-driver"
    return None


class Browser:
    """One browser for many pages."""

    def __enter__(self):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or shutil.which("chromium-browser")
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--hide-scrollbars", "--force-device-scale-factor=1", "--disable-background-networking",
                     "--disable-component-update", "--no-first-run", "--disable-extensions",
                     "--host-resolver-rules=MAP * ~NOTFOUND"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        self.driver.set_page_load_timeout(60)
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def open(self, path, width=1280, dark=False, media="screen", height=900):
        driver = self.driver
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "media": media,
            "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        driver.get("about:blank")
        driver.get_log("browser")
        driver.get_log("performance")
        self.url = pathlib.Path(path).resolve().as_uri()
        driver.get(self.url)

    def messages(self):
        return ["console: %s" % entry["message"][:200] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Addresses that were asked for, but for the page itself and what stands in it."""
        asked = []
        for entry in self.driver.get_log("performance"):
            event = json.loads(entry["message"])["message"]
            if event["method"] != "Network.requestWillBeSent":
                continue
            url = event["params"]["request"]["url"]
            if url.split("#")[0] != self.url and not url.startswith(("data:", "blob:", "about:")):
                asked.append("requests: %s" % url[:200])
        return asked

    def keyboard(self):
        """Tab from the beginning to the end, and back to the beginning."""
        from selenium.webdriver.common.keys import Keys
        from selenium.webdriver.common.action_chains import ActionChains

        driver = self.driver
        usable = driver.execute_script(USABLE)
        driver.execute_script("window.scrollTo(0, 0); if (document.activeElement) document.activeElement.blur();")
        problems = ["keyboard: %s \"%s\" has an order of its own" % (tag, text) for tag, text, at in usable if at > 0]
        reached = []
        for _ in range(len(usable) + 20):
            ActionChains(driver).send_keys(Keys.TAB).perform()
            at = driver.execute_script(ACTIVE)
            if at >= 0 and at in reached:
                break
            if at >= 0:
                reached.append(at)
            if len(reached) == len(usable):
                break
        for i, (tag, text, _) in enumerate(usable):
            if i not in reached:
                problems.append("keyboard: the tab key does not reach %s \"%s\"" % (tag, text))
        if reached != sorted(reached):
            problems.append("keyboard: the order of the tab key is not that of the page: %s" % reached)
        return problems

    def problems(self, path, views=VIEWS):
        """Of a page or a figure in every width, light and dark; empty: it is as it should be."""
        found = []
        page = not str(path).endswith(".svg")
        for width, dark in views:
            if not page and width != WIDTHS[-1]:
                continue  # a figure of its own has its own size, and is scrolled on a phone
            self.open(path, width, dark)
            seen = self.driver.execute_script(LOOK) + self.requests()
            if page and width == WIDTHS[-1] and not dark:
                seen += self.keyboard()
            seen += self.messages()
            found += ["%s [%d pixels, %s]" % (p, width, "dark" if dark else "light") for p in seen]
        return found

    def shot(self, path, out, width=1280, dark=False, media="screen"):
        """A picture of the whole page."""
        import base64

        self.open(path, width, dark, media)
        size = self.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        picture = self.driver.execute_cdp_cmd("Page.captureScreenshot", {
            "format": "png", "captureBeyondViewport": True,
            "clip": {"x": 0, "y": 0, "width": max(width, size["width"]), "height": min(size["height"], 16000), "scale": 1}})
        with open(out, "wb") as f:
            f.write(base64.b64decode(picture["data"]))

    def pdf(self, path, out):
        """The page as it is printed."""
        import base64

        self.open(path)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
        printed = self.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": False, "paperWidth": 8.27,
                                                                  "paperHeight": 11.69})
        with open(out, "wb") as f:
            f.write(base64.b64decode(printed["data"]))
        return os.path.getsize(out)
