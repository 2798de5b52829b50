/**
 * The picture that `npm run bench -- --picture FILE` draws of its run: a group of bars for each
 * question, one bar per contender, as long as its ratio to Envoy in that run.
 */

export interface PictureRow {
  readonly name: string;
  readonly bars: readonly PictureBar[];
}

export interface PictureBar {
  readonly contender: string;
  /** Requests per second to those of Envoy in the same run. */
  readonly ratio: number;
}

const WIDTH = 820;
const LABEL_WIDTH = 190;
const BAR_HEIGHT = 16;
const BAR_GAP = 3;
const GROUP_GAP = 16;
const TOP = 64;
const BOTTOM = 36;
/** Room for the figure behind a bar's end. */
const FIGURE_WIDTH = 60;
const COLOURS = new Map([
  ['sluice', '#2f6fdf'],
  ['envoy', '#8a94a6'],
  ['nginx', '#3f9a57'],
  ['haproxy', '#c07a2c'],
]);
const OTHER_COLOUR = '#b9a4c9';
const STYLE =
  'text{font:13px system-ui,sans-serif;fill:#26303d}.title{font-size:16px;font-weight:600}' +
  '.figure,.note{font-size:12px;fill:#5a6473}';

/** An SVG document. `note` is the line below: machine, versions, date. */
export function drawPicture(title: string, rows: readonly PictureRow[], note: string): string {
  const longest = Math.max(1, ...rows.flatMap(({ bars }) => bars.map(({ ratio }) => ratio)));
  const scale = (WIDTH - LABEL_WIDTH - FIGURE_WIDTH) / longest;
  const parts: string[] = [];
  let y = TOP;
  for (const row of rows) {
    const height = row.bars.length * (BAR_HEIGHT + BAR_GAP) - BAR_GAP;
    parts.push(text(LABEL_WIDTH - 10, y + height / 2 + 4, row.name, 'text-anchor="end"'));
    for (const bar of row.bars) {
      parts.push(drawBar(bar, y, scale));
      y += BAR_HEIGHT + BAR_GAP;
    }
    y += GROUP_GAP - BAR_GAP;
  }
  const height = y - GROUP_GAP + BOTTOM;
  const line = LABEL_WIDTH + scale;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeXml(title)}">`,
    `<style>${STYLE}</style>`,
    `<rect width="${WIDTH}" height="${height}" rx="8" fill="#fbfcfe"/>`,
    text(16, 30, title, 'class="title"'),
    ...drawLegend(rows),
    `<line x1="${line}" x2="${line}" y1="${TOP - 6}" y2="${height - BOTTOM + 6}" stroke="#c9d0db" stroke-dasharray="3 3"/>`,
    ...parts,
    text(16, height - 12, note, 'class="note"'),
    '</svg>\n',
  ].join('\n');
}

function drawBar({ contender, ratio }: PictureBar, y: number, scale: number): string {
  const width = Math.max(1, ratio * scale);
  const rect = `<rect x="${LABEL_WIDTH}" y="${y}" width="${width.toFixed(1)}" height="${BAR_HEIGHT}" rx="2" fill="${colourOf(contender)}"/>`;
  const figure = text(LABEL_WIDTH + width + 6, y + 12, ratio.toFixed(2), 'class="figure"');
  return rect + figure;
}

/** One entry for each contender, in the order in which the rows name them. */
function drawLegend(rows: readonly PictureRow[]): string[] {
  const names = new Set(rows.flatMap(({ bars }) => bars.map(({ contender }) => contender)));
  return [...names].map((name, index) => {
    const x = LABEL_WIDTH + index * 110;
    const square = `<rect x="${x}" y="40" width="11" height="11" rx="2" fill="${colourOf(name)}"/>`;
    return square + text(x + 17, 50, name, 'class="figure"');
  });
}

function colourOf(contender: string): string {
  return COLOURS.get(contender) ?? OTHER_COLOUR;
}

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${escapeXml(content)}</text>`;
}

function escapeXml(content: string): string {
  return content
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
