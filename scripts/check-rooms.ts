/**
 * Checks the rooms of the house: each process's folder is a stack of rooms, and a room imports only
 * rooms below it that rooms.json names. Also checks how large files and folders are. Prints the
 * stacks with `--print`; exits with 1 and a line for each thing that is wrong.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative, sep } from 'node:path';

/** One room as rooms.json states it, bottom floor first. */
interface Room {
  readonly room: string;
  readonly imports: readonly string[];
}

interface Stack {
  readonly rooms: readonly Room[];
  /** Imports that go up, or both ways, each with the reason why it stays. */
  readonly exceptions: readonly Exception[];
}

interface Exception {
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}

interface House {
  /** By process. */
  readonly stacks: readonly (Stack & { readonly process: string })[];
  /** Files that may be longer than others because they are tables. */
  readonly tables: readonly string[];
  /** Files and folders that are too large and may only shrink. */
  readonly tooLarge: readonly { readonly path: string; readonly most: number }[];
}

interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly file: string;
  readonly target: string;
}

const LINES_MAX = 300;
const FILES_PER_FOLDER_MAX = 25;
const EXCEPTIONS_MAX = 3;
const SIZED = ['src', 'supervisor', 'workers', 'shared', 'scripts', 'test'];
const NOT_SIZED =
  /^(shared\/api\/(generated|overlay)|src\/admin-client\/admin-endpoints\.ts|scripts\/bench\/competitors|test\/.*golden)/;

const projectRoot = join(import.meta.dirname, '..', '..');

export function houseProblems(root: string, house: House): string[] {
  const problems: string[] = [];
  for (const stack of house.stacks) {
    problems.push(...stackProblems(stack.process, stack, arrowsOf(root, stack.process)));
    problems.push(...unlistedRooms(root, stack.process, stack));
  }
  return [...problems, ...sizeProblems(root, house)];
}

/** Every import from one room of a process into another, types included. */
function arrowsOf(root: string, process: string): Arrow[] {
  const arrows: Arrow[] = [];
  for (const file of sourceFiles(join(root, process))) {
    const path = relative(root, file);
    const text = readFileSync(file, 'utf8');
    for (const match of text.matchAll(/(?:from|import|import\()\s*'(\.[^']+)'/g)) {
      const target = normalize(join(dirname(path), match[1] ?? ''));
      if (!target.startsWith(process + sep)) continue;
      const [from, to] = [roomOf(path), roomOf(target)];
      if (from !== to) arrows.push({ from, to, file: path, target });
    }
  }
  return arrows;
}

/** The folder below the process's own; '.' for a file that stands in no room. */
function roomOf(path: string): string {
  const parts = path.split(sep);
  return parts.length > 2 ? (parts[1] ?? '.') : '.';
}

function stackProblems(process: string, stack: Stack, arrows: readonly Arrow[]): string[] {
  return [
    ...statedImportProblems(process, stack, arrows),
    ...arrowProblems(process, stack, arrows),
    ...exceptionProblems(process, stack, arrows),
  ];
}

/** What rooms.json permits and nobody uses, or may not permit. */
function statedImportProblems(
  process: string,
  { rooms }: Stack,
  arrows: readonly Arrow[],
): string[] {
  const problems: string[] = [];
  const floors = new Map(rooms.map(({ room }, floor) => [room, floor]));
  for (const { room, imports } of rooms) {
    const used = new Set(arrows.filter(({ from }) => from === room).map(({ to }) => to));
    for (const below of imports) {
      const place = `rooms.json: ${process}/${room}`;
      if ((floors.get(below) ?? Infinity) >= (floors.get(room) ?? 0)) {
        problems.push(`${place} names ${below}, which is not on a floor below it`);
      }
      if (!used.has(below)) problems.push(`${place} no longer imports ${below}`);
    }
  }
  return problems;
}

function arrowProblems(
  process: string,
  { rooms, exceptions }: Stack,
  arrows: readonly Arrow[],
): string[] {
  const allowed = new Set([
    ...rooms.flatMap(({ room, imports }) => imports.map((below) => `${room} ${below}`)),
    ...exceptions.map(({ from, to }) => `${from} ${to}`),
  ]);
  return arrows
    .filter(({ from, to }) => !allowed.has(`${from} ${to}`))
    .map(
      ({ from, to, file, target }) =>
        `${file}: ${process}/${from} may not import ${process}/${to} (${target})`,
    );
}

function exceptionProblems(
  process: string,
  { exceptions }: Stack,
  arrows: readonly Arrow[],
): string[] {
  const used = new Set(arrows.map(({ from, to }) => `${from} ${to}`));
  const problems = exceptions
    .filter(({ from, to }) => !used.has(`${from} ${to}`))
    .map(({ from, to }) => `rooms.json: the exception ${from} to ${to} is not used`);
  if (exceptions.length > EXCEPTIONS_MAX) {
    problems.push(`rooms.json: ${process} has more than ${EXCEPTIONS_MAX} exceptions`);
  }
  return problems;
}

/** Rooms that rooms.json does not know, rooms that are gone, and files outside of any room. */
function unlistedRooms(root: string, process: string, { rooms }: Stack): string[] {
  const known = new Set(rooms.map(({ room }) => room));
  const problems: string[] = [];
  for (const entry of readdirSync(join(root, process), { withFileTypes: true })) {
    const folder = join(root, process, entry.name);
    if (!entry.isDirectory()) problems.push(`${process}/${entry.name}: a file outside of any room`);
    else if ([...sourceFiles(folder)].length > 0 && !known.delete(entry.name)) {
      problems.push(`rooms.json: ${process}/${entry.name} has no floor`);
    }
  }
  for (const room of known) problems.push(`rooms.json: ${process}/${room} is not there`);
  return problems;
}

function sizeProblems(root: string, { tables, tooLarge }: House): string[] {
  const problems: string[] = [];
  const limits = new Map(tooLarge.map(({ path, most }) => [path, most]));
  const check = (path: string, size: number, usual: number, what: string): void => {
    const most = limits.get(path) ?? usual;
    if (size > most) problems.push(`${path}: ${size} ${what}, more than ${most}`);
    else if (size <= usual && limits.delete(path)) {
      problems.push(`rooms.json: ${path} has no more than ${usual} ${what} any longer`);
    }
  };
  const folders = new Map<string, number>();
  for (const file of SIZED.flatMap((folder) => [...sourceFiles(join(root, folder))])) {
    const path = relative(root, file);
    if (NOT_SIZED.test(path)) continue;
    folders.set(dirname(path), (folders.get(dirname(path)) ?? 0) + 1);
    const lines = readFileSync(file, 'utf8').split('\n').length - 1;
    if (!tables.includes(path)) check(path, lines, LINES_MAX, 'lines');
  }
  for (const [folder, files] of folders) check(folder, files, FILES_PER_FOLDER_MAX, 'files');
  return problems;
}

function* sourceFiles(folder: string): Iterable<string> {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && entry.name.endsWith('.ts')) yield join(entry.parentPath, entry.name);
  }
}

/** The stacks in words: rooms from the top floor down with what they import, then the counts. */
export function describeStack(root: string, process: string, stack: Stack): string {
  const arrows = arrowsOf(root, process);
  const floors = new Map(stack.rooms.map(({ room }, floor) => [room, floor]));
  const floorOf = (room: string): number => floors.get(room) ?? -1;
  const pairs = new Set(arrows.map(({ from, to }) => `${from} ${to}`));
  const isMutual = ({ from, to }: Arrow): boolean => from < to && pairs.has(`${to} ${from}`);
  const up = new Set(
    arrows
      .filter(({ from, to }) => floorOf(to) > floorOf(from))
      .map(({ from, to }) => `${from} ${to}`),
  );
  const mutual = new Set(arrows.filter(isMutual).map(({ from, to }) => `${from} ${to}`));
  const lines = stack.rooms
    .map(({ room, imports }, floor) => `  ${floor + 1}. ${room}: ${imports.join(', ') || '-'}`)
    .reverse();
  const counts =
    `  ${stack.rooms.length} rooms, ${pairs.size} arrows, ${up.size} up, ` +
    `${mutual.size} mutual pairs`;
  return [`${process}/`, ...lines, counts].join('\n');
}

if (process.argv[1] === import.meta.filename) {
  const house = JSON.parse(readFileSync(join(projectRoot, 'rooms.json'), 'utf8')) as House;
  for (const stack of house.stacks) console.log(describeStack(projectRoot, stack.process, stack));
  const problems = houseProblems(projectRoot, house);
  for (const problem of problems) console.error(problem);
  console.log(problems.length === 0 ? 'rooms: as stated' : `rooms: ${problems.length} problems`);
  process.exit(problems.length === 0 ? 0 : 1);
}
