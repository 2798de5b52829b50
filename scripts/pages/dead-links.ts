/** Links between the project's own pages: to a file that is there, and to a heading that it has. */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

/** Not images and not what stands in code. */
const LINK = /(?<!`)\[(?:[^\]`]|`[^`]*`)*\]\(([^)\s]+)\)/g;
const FENCE = /^ *```[\s\S]*?^ *```/gm;
const HEADING = /^#{1,6} +(.+?) *$/gm;
const ELSEWHERE = /^[a-z][a-z+.-]*:/i;

/** `page: link`, for each that leads nowhere. */
export function deadLinks(root: string): readonly string[] {
  return ownPages(root).flatMap((page) => {
    const text = readFileSync(page, 'utf8').replace(FENCE, '');
    const targets = [...text.matchAll(LINK)].map(([, target = '']) => target);
    return targets
      .filter((target) => !ELSEWHERE.test(target) && !leadsSomewhere(page, target))
      .map((target) => `${relative(root, page)}: ${target}`);
  });
}

/** The pages of the root and of docs/. */
export function ownPages(root: string): readonly string[] {
  const docs = join(root, 'docs');
  const below = readdirSync(docs, { recursive: true, encoding: 'utf8' });
  return [
    ...readdirSync(root).map((name) => join(root, name)),
    ...below.map((name) => join(docs, name)),
  ].filter((path) => path.endsWith('.md'));
}

/** A heading's name in an address, as forges make it. */
export function anchorOf(heading: string): string {
  const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  return plain
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

function leadsSomewhere(page: string, target: string): boolean {
  const [file = '', anchor = ''] = target.split('#');
  const path = file === '' ? page : normalize(join(dirname(page), decodeURIComponent(file)));
  if (!existsSync(path)) return false;
  if (anchor === '' || !path.endsWith('.md') || !statSync(path).isFile()) return true;
  const text = readFileSync(path, 'utf8').replace(FENCE, '');
  return [...text.matchAll(HEADING)].some(([, heading = '']) => anchorOf(heading) === anchor);
}
