/**
 * Counts the instructions that are left when RE2 flattens a program: every instruction that can be
 * entered from elsewhere begins a list, and a list holds what is reachable from there without
 * consuming anything; where one list reaches the head of another, a jump stands.
 */
import type { Instruction, Program } from './program.ts';

export function flattenedSize(program: Program): number {
  const flat = new Flattener(program);
  return flat.size();
}

class Flattener {
  readonly #instructions: readonly Instruction[];
  readonly #program: Program;
  readonly #altMatches: ReadonlySet<number>;
  readonly #roots = new Set<number>([0]);
  readonly #predecessors = new Map<number, number[]>();

  constructor(program: Program) {
    this.#program = program;
    this.#instructions = program.instructions.map((instruction) => ({ ...instruction }));
    const reached = program.start === 0 ? new Set<number>() : this.#skipNops();
    this.#altMatches = this.#findAltMatches(reached);
  }

  size(): number {
    const { start, startUnanchored } = this.#program;
    this.#roots.add(startUnanchored);
    this.#roots.add(start);
    this.#markSuccessors();
    const sorted = [...this.#roots].sort((a, b) => b - a);
    for (const root of sorted) {
      if (root !== 0 && root !== startUnanchored && root !== start) this.#markDominator(root);
    }
    let size = 0;
    for (const root of this.#roots) size += this.#listSize(root);
    return size;
  }

  #at(id: number): Instruction {
    const instruction = this.#instructions[id];
    if (instruction === undefined) throw new Error(`no instruction ${id}`);
    return instruction;
  }

  /** RE2 looks only at what follows the anchored start; returns that. */
  #skipNops(): ReadonlySet<number> {
    const skip = (id: number): number => {
      let target = id;
      while (target !== 0 && this.#at(target).op === 'nop') target = this.#at(target).out;
      return target;
    };
    return this.#walk(this.#program.start, (id) => {
      const instruction = this.#at(id);
      instruction.out = skip(instruction.out);
      if (instruction.op !== 'alt') return [instruction.out];
      instruction.out1 = skip(instruction.out1);
      return [instruction.out1, instruction.out];
    });
  }

  /** `any byte, again` beside a match: RE2 marks it with an instruction of its own. */
  #findAltMatches(reached: ReadonlySet<number>): ReadonlySet<number> {
    const found = new Set<number>();
    for (const id of reached) {
      const { op, out, out1 } = this.#at(id);
      if (op !== 'alt') continue;
      const loops = (target: number): boolean =>
        this.#at(target).op === 'any_byte' && this.#at(target).out === id;
      if ((loops(out) && this.#isMatch(out1)) || (loops(out1) && this.#isMatch(out))) found.add(id);
    }
    return found;
  }

  #isMatch(id: number): boolean {
    const { op, out } = this.#at(id);
    return op === 'match' || ((op === 'capture' || op === 'nop') && this.#isMatch(out));
  }

  #markSuccessors(): void {
    this.#walk(this.#program.startUnanchored, (id) => {
      const { op, out, out1 } = this.#at(id);
      switch (op) {
        case 'alt':
          for (const target of [out, out1]) {
            const known = this.#predecessors.get(target);
            if (known === undefined) this.#predecessors.set(target, [id]);
            else known.push(id);
          }
          return [out1, out];
        case 'leaf':
        case 'empty':
        case 'any_byte':
        case 'capture':
          this.#roots.add(out);
          return [out];
        case 'nop':
          return [out];
        case 'fail':
        case 'match':
          return [];
      }
    });
  }

  #markDominator(root: number): void {
    const reachable = this.#walk(root, (id) => this.#withinList(root, id));
    for (const id of reachable) {
      const predecessors = this.#predecessors.get(id) ?? [];
      if (predecessors.some((predecessor) => !reachable.has(predecessor))) this.#roots.add(id);
    }
  }

  #listSize(root: number): number {
    let size = 0;
    this.#walk(root, (id) => {
      if (id !== root && this.#roots.has(id)) {
        size += 1;
        return [];
      }
      const { op } = this.#at(id);
      if (op !== 'alt' && op !== 'nop') size += 1;
      if (this.#altMatches.has(id)) size += 1;
      return this.#withinList(root, id);
    });
    return size;
  }

  #withinList(root: number, id: number): readonly number[] {
    if (id !== root && this.#roots.has(id)) return [];
    const { op, out, out1 } = this.#at(id);
    if (op === 'alt') return [out1, out];
    return op === 'nop' ? [out] : [];
  }

  /** Depth first, the last successor first; returns what was reached, in that order. */
  #walk(start: number, successors: (id: number) => readonly number[]): ReadonlySet<number> {
    const reached = new Set<number>();
    const stack = [start];
    for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
      if (reached.has(id)) continue;
      reached.add(id);
      stack.push(...successors(id));
    }
    return reached;
  }
}
