/**
 * Compiles a simplified tree to the instructions that RE2 makes of it, only so that they can be
 * counted (program-size.ts). Instruction 0 fails; fragments are joined through lists of open ends.
 */
import { foldsAscii } from './byte-set.ts';
import { isLazy, type ByteSet, type RegexNode } from './tree.ts';

export interface Instruction {
  op: 'fail' | 'alt' | 'leaf' | 'any_byte' | 'capture' | 'nop' | 'match';
  out: number;
  /** Of `alt` alone. */
  out1: number;
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
  readonly end: readonly Hole[];
  readonly nullable: boolean;
}

const NO_MATCH: Fragment = { begin: 0, end: [], nullable: false };

/** Throws RangeError when the program would need more than `MAX_INSTRUCTIONS`. */
export function compileProgram(root: RegexNode, anchoredAtStart: boolean): Program {
  const compiler = new ProgramCompiler();
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

  compile(node: RegexNode): Fragment {
    switch (node.op) {
      case 'nothing':
        return NO_MATCH;
      case 'empty':
        return { ...this.single('nop'), nullable: true };
      case 'any':
        return this.single('any_byte');
      case 'literal':
        return this.#literal(node.text);
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
        return this.#capture(this.compile(node.sub));
      case 'repeat':
        throw new Error('counted repetitions are written out before compiling');
      default:
        return { ...this.single('leaf'), nullable: true };
    }
  }

  single(op: Instruction['op']): Fragment {
    const [begin, instruction] = this.#add(op);
    return {
      begin,
      end: op === 'match' ? [] : [[instruction, 'out']],
      nullable: false,
    };
  }

  anyBytesLazily(): Fragment {
    return this.#star(this.single('any_byte'), true);
  }

  cat(a: Fragment, b: Fragment): Fragment {
    if (a.begin === 0 || b.begin === 0) return NO_MATCH;
    const first = this.instructions[a.begin];
    patch(a.end, b.begin);
    if (first?.op === 'nop' && a.end.length === 1 && a.end[0]?.[0] === first) return b;
    return { begin: a.begin, end: b.end, nullable: a.nullable && b.nullable };
  }

  #add(op: Instruction['op'], out = 0, out1 = 0): [number, Instruction] {
    const { instructions } = this;
    if (instructions.length >= MAX_INSTRUCTIONS) throw new RangeError('pattern too large');
    const instruction = { op, out, out1 };
    instructions.push(instruction);
    return [instructions.length - 1, instruction];
  }

  #literal(text: string): Fragment {
    let fragment = this.single(leafFor(0, 0));
    for (let count = 1; count < text.length; count++) {
      fragment = this.cat(fragment, this.single('leaf'));
    }
    return fragment;
  }

  #class(set: ByteSet): Fragment {
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
    const [begin] = this.#add('alt', a.begin, b.begin);
    return { begin, end: [...a.end, ...b.end], nullable: a.nullable || b.nullable };
  }

  #loop(begin: number, lazy: boolean): [id: number, exit: Hole] {
    const [id, alt] = this.#add('alt', lazy ? 0 : begin, lazy ? begin : 0);
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
    return { begin: id, end: [exit, ...a.end], nullable: true };
  }

  #capture(a: Fragment): Fragment {
    if (a.begin === 0) return NO_MATCH;
    const [begin] = this.#add('capture', a.begin);
    const [end, close] = this.#add('capture');
    patch(a.end, end);
    return { begin, end: [[close, 'out']], nullable: a.nullable };
  }
}

function patch(holes: readonly Hole[], target: number): void {
  for (const [instruction, side] of holes) instruction[side] = target;
}

function leafFor(first: number, last: number): 'leaf' | 'any_byte' {
  return first === 0 && last === 255 ? 'any_byte' : 'leaf';
}
