/**
 * Compiles a simplified tree to the instructions that RE2 makes of it: for counting
 * (program-size.ts), and with whole classes for running (write-program.ts). Instruction 0 fails;
 * fragments are joined through lists of open ends.
 */
import { foldsAscii, setOf } from './byte-set.ts';
import { FOLD_CASE, isLazy, type ByteSet, type EmptyWidthOp, type RegexNode } from './tree.ts';

export interface Instruction {
  op: 'fail' | 'alt' | 'leaf' | 'any_byte' | 'empty' | 'capture' | 'nop' | 'match';
  out: number;
  /** The second way of `alt` alone. */
  out1: number;
  /** The bytes of `leaf` and `any_byte`, in a program that is made for running. */
  set?: ByteSet;
  /** The condition of `empty`. */
  condition?: EmptyWidthOp;
  /** The slot of `capture`: twice the group's number, and one more where it ends. */
  slot?: number;
}

export interface ProgramOptions {
  readonly anchoredAtStart: boolean;
  /** `count`: a class is as many instructions as RE2 makes of it; otherwise it is one. */
  readonly purpose: 'count' | 'match' | 'replace';
}

export interface Program {
  readonly instructions: readonly Instruction[];
  readonly start: number;
  readonly startUnanchored: number;
}

/** An open end: the instruction, and which of its two outs. */
type Hole = readonly [instruction: Instruction, side: 'out' | 'out1'];

interface Fragment {
  readonly begin: number;
  /** A fragment that another takes in may get more of them. */
  readonly end: Hole[];
  readonly nullable: boolean;
}

const NO_MATCH: Fragment = { begin: 0, end: [], nullable: false };

/** Throws RangeError when the program would need more than `MAX_INSTRUCTIONS`. */
export function compileProgram(
  root: RegexNode,
  { anchoredAtStart, purpose }: ProgramOptions,
): Program {
  const compiler = new ProgramCompiler(purpose);
  let all = compiler.compile(root);
  all = compiler.cat(all, compiler.single('match'));
  const start = all.begin;
  if (!anchoredAtStart) all = compiler.cat(compiler.anyBytesLazily(), all);
  const { instructions } = compiler;
  const isDead = start === 0 && all.begin === 0;
  return {
    instructions: isDead ? instructions.slice(0, 1) : instructions,
    start,
    startUnanchored: all.begin,
  };
}

/** What RE2's memory budget for a pattern comes to. */
const MAX_INSTRUCTIONS = 300_000;

class ProgramCompiler {
  readonly instructions: Instruction[] = [{ op: 'fail', out: 0, out1: 0 }];
  readonly #purpose: ProgramOptions['purpose'];

  constructor(purpose: ProgramOptions['purpose']) {
    this.#purpose = purpose;
  }

  compile(node: RegexNode): Fragment {
    switch (node.op) {
      case 'nothing':
        return NO_MATCH;
      case 'empty':
        return { ...this.single('nop'), nullable: true };
      case 'any':
        return this.single('any_byte', { set: ANY_BYTE });
      case 'literal':
        return this.#literal(node.text, (node.flags & FOLD_CASE) !== 0);
      case 'class':
        return this.#class(node.set);
      case 'concat':
        return node.subs.map((sub) => this.compile(sub)).reduce((a, b) => this.cat(a, b));
      case 'alternate':
        return node.subs.map((sub) => this.compile(sub)).reduce((a, b) => this.#alt(a, b));
      case 'star':
        return this.#star(this.compile(node.sub), isLazy(node));
      case 'plus':
        return this.#plus(this.compile(node.sub), isLazy(node));
      case 'quest':
        return this.#quest(this.compile(node.sub), isLazy(node));
      case 'capture':
        return this.#capture(node.index, this.compile(node.sub));
      case 'repeat':
        throw new Error('counted repetitions are written out before compiling');
      default:
        return { ...this.single('empty', { condition: node.op }), nullable: true };
    }
  }

  single(op: Instruction['op'], fields: Partial<Instruction> = {}): Fragment {
    const [begin, instruction] = this.#add({ op, ...fields });
    return {
      begin,
      end: op === 'match' ? [] : [[instruction, 'out']],
      nullable: false,
    };
  }

  anyBytesLazily(): Fragment {
    return this.#star(this.single('any_byte', { set: ANY_BYTE }), true);
  }

  cat(a: Fragment, b: Fragment): Fragment {
    if (a.begin === 0 || b.begin === 0) return NO_MATCH;
    const first = this.instructions[a.begin];
    patch(a.end, b.begin);
    if (first?.op === 'nop' && a.end.length === 1 && a.end[0]?.[0] === first) return b;
    return { begin: a.begin, end: b.end, nullable: a.nullable && b.nullable };
  }

  #add(
    fields: Partial<Instruction> & Pick<Instruction, 'op'>,
  ): [id: number, instruction: Instruction] {
    const { instructions } = this;
    if (instructions.length >= MAX_INSTRUCTIONS) throw new RangeError('pattern too large');
    const instruction: Instruction = { out: 0, out1: 0, ...fields };
    instructions.push(instruction);
    return [instructions.length - 1, instruction];
  }

  #literal(text: string, foldCase: boolean): Fragment {
    let fragment: Fragment | undefined;
    for (const character of text) {
      const next = this.single('leaf', { set: setOf(character.charCodeAt(0), foldCase) });
      fragment = fragment === undefined ? next : this.cat(fragment, next);
    }
    return fragment ?? NO_MATCH;
  }

  #class(set: ByteSet): Fragment {
    if (this.#purpose !== 'count') {
      return set.length === 0 ? NO_MATCH : this.single('leaf', { set });
    }
    const fold = foldsAscii(set);
    // One instruction stands for both cases of a letter when the class treats them alike.
    const ranges = set.filter(([first, last]) => !(fold && first >= 0x41 && last <= 0x5a));
    const [head, ...tail] = ranges.map(([first, last]) => this.single(leafFor(first, last)));
    let result = head ?? NO_MATCH;
    for (const fragment of tail) result = this.#alt(result, fragment);
    return { ...result, nullable: false };
  }

  #alt(a: Fragment, b: Fragment): Fragment {
    if (a.begin === 0) return b;
    if (b.begin === 0) return a;
    const [begin] = this.#add({ op: 'alt', out: a.begin, out1: b.begin });
    for (const hole of b.end) a.end.push(hole);
    return { begin, end: a.end, nullable: a.nullable || b.nullable };
  }

  #loop(begin: number, lazy: boolean): [id: number, exit: Hole] {
    const [id, alt] = this.#add({
      op: 'alt',
      out: lazy ? 0 : begin,
      out1: lazy ? begin : 0,
    });
    return [id, [alt, lazy ? 'out' : 'out1']];
  }

  #plus(a: Fragment, lazy: boolean): Fragment {
    const [id, exit] = this.#loop(a.begin, lazy);
    patch(a.end, id);
    return { begin: a.begin, end: [exit], nullable: a.nullable };
  }

  #star(a: Fragment, lazy: boolean): Fragment {
    if (a.nullable) return this.#quest(this.#plus(a, lazy), lazy);
    const [id, exit] = this.#loop(a.begin, lazy);
    patch(a.end, id);
    return { begin: id, end: [exit], nullable: true };
  }

  #quest(a: Fragment, lazy: boolean): Fragment {
    if (a.begin === 0) return { ...this.single('nop'), nullable: true };
    const [id, exit] = this.#loop(a.begin, lazy);
    a.end.push(exit);
    return { begin: id, end: a.end, nullable: true };
  }

  #capture(index: number, a: Fragment): Fragment {
    if (a.begin === 0) return NO_MATCH;
    if (this.#purpose === 'match') return a;
    const [begin] = this.#add({ op: 'capture', out: a.begin, slot: 2 * index });
    const [end, close] = this.#add({ op: 'capture', slot: 2 * index + 1 });
    patch(a.end, end);
    return { begin, end: [[close, 'out']], nullable: a.nullable };
  }
}

const ANY_BYTE: ByteSet = [[0, 255]];

function patch(holes: readonly Hole[], target: number): void {
  for (const [instruction, side] of holes) instruction[side] = target;
}

function leafFor(first: number, last: number): 'leaf' | 'any_byte' {
  return first === 0 && last === 255 ? 'any_byte' : 'leaf';
}
