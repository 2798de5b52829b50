/**
 * docs/ as a site: each page of the project as HTML with one list of pages, from the same files. Every
 * page is complete by itself: no script, nothing from elsewhere.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { anchorOf, ownPages } from '../pages/dead-links.ts';

/** What pages name besides each other, copied as it is. */
const COPIED = ['docs/images', 'docs/examples', 'docs/observability', 'docs/kubernetes'];
/** Its sections are those of the list of pages. */
const INDEX = 'docs/README.md';
/** The section of pages that the index does not have. */
const PROJECT = 'Sluice';
const STYLE = `:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:76rem;padding:1rem;display:grid;grid-template-columns:13rem 1fr;gap:2rem}
main{grid-area:1/2;overflow-wrap:break-word}nav{grid-area:1/1}
nav ul{list-style:none;padding:0;font-size:.9rem}main{min-width:0}
pre,table{overflow-x:auto;display:block;max-width:100%}pre{padding:.75rem;border:1px solid #8886;border-radius:4px}
code{font-size:.9em}td,th{border:1px solid #8886;padding:.25rem .5rem;vertical-align:top;text-align:left}table{border-collapse:collapse}
img{max-width:100%}a[aria-current]{font-weight:bold}
nav h2{font-size:.9rem;margin:1rem 0 .25rem}nav ul{margin:0}.to-pages{display:none}
@media(max-width:50rem){body{display:block}.to-pages{display:block}}`;

interface SitePage {
  /** From the project's root. */
  readonly path: string;
  readonly title: string;
  readonly text: string;
}

/** How many pages were written. */
export function writeSite(root: string, target: string): number {
  const pages = ownPages(root).map((file) => readPage(root, file));
  const known = new Set(pages.map(({ path }) => path));
  for (const page of pages) {
    const to = join(target, htmlPath(page.path));
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, pageHtml(page, pages, known));
  }
  for (const folder of COPIED) {
    cpSync(join(root, folder), join(target, folder), { recursive: true });
  }
  return pages.length;
}

function readPage(root: string, file: string): SitePage {
  const text = readFileSync(file, 'utf8');
  const path = relative(root, file);
  return { path, text, title: /^# +(.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? path };
}

/** The front page is README.md. */
function htmlPath(path: string): string {
  return path === 'README.md' ? 'index.html' : path.replace(/\.md$/, '.html');
}

function pageHtml(page: SitePage, pages: readonly SitePage[], known: ReadonlySet<string>): string {
  const sections = [...byIndex(pages)].map(([heading, inside]) => {
    const items = inside.map(({ path, title }) => {
      const current = path === page.path ? ' aria-current="page"' : '';
      return `<li><a href="${linkFrom(page.path, htmlPath(path))}"${current}>${escaped(title)}</a></li>\n`;
    });
    return `<h2>${escaped(heading)}</h2><ul>\n${items.join('')}</ul>\n`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(page.title)} – Sluice</title><style>${STYLE}</style></head>
<body><main><a class="to-pages" href="#pages">All pages</a>
${bodyHtml(page, known)}</main><nav id="pages" aria-label="Pages">
${sections.join('')}</nav></body></html>
`;
}

/** Pages by the sections of the index and in their order there; those of the project come first. */
function byIndex(pages: readonly SitePage[]): ReadonlyMap<string, readonly SitePage[]> {
  const rest = new Map(pages.map((page) => [page.path, page]));
  const sections = new Map<string, SitePage[]>([[PROJECT, []]]);
  let inside: SitePage[] = [];
  for (const line of (rest.get(INDEX)?.text ?? '').split('\n')) {
    const [, heading, file] = /^## (.+)|^\| \[[^\]]+\]\(([^)]+)\)/.exec(line) ?? [];
    if (heading !== undefined) sections.set(heading, (inside = []));
    const path = file === undefined ? '' : join(dirname(INDEX), file);
    const page = rest.get(path);
    if (page !== undefined) inside.push(page);
    rest.delete(path);
  }
  sections.set(PROJECT, [...rest.values()]);
  return sections;
}

function bodyHtml(page: SitePage, known: ReadonlySet<string>): string {
  const marked = new Marked({
    walkTokens: (token) => {
      if (token.type === 'link') retarget(token as Tokens.Link, page.path, known);
    },
    renderer: {
      heading: (text, level, raw) =>
        `<h${level} id="${anchorOf(unescaped(raw))}">${text}</h${level}>\n`,
    },
  });
  return marked.parse(page.text) as string;
}

/** A link to a page leads to its HTML; other files stay what they are. */
function retarget(link: Tokens.Link, from: string, known: ReadonlySet<string>): void {
  const [file = '', anchor] = link.href.split('#');
  const path = join(dirname(from), file);
  if (file === '' || !known.has(path)) return;
  const hash = anchor === undefined ? '' : `#${anchor}`;
  link.href = linkFrom(from, htmlPath(path)) + hash;
}

function linkFrom(from: string, to: string): string {
  return relative(dirname(from), to);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** The reader has escaped the heading's text already. */
function unescaped(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
