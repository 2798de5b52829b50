/**
 * How code on the data path (and in the supervisor) writes statistics. Implemented by the worker's
 * store, which only counts into typed arrays, and by the supervisor's own store.
 */
import type { Exemplar } from '../messages/exemplars.ts';
import type { StatTemplate } from './template.ts';

export interface StatWriter {
  /**
   * Returns the base index of the block, making it when it is new. The prefix ends in a dot.
   * Each definition of a block is released once: the block goes with its last holder, and with it
   * the statistics that were defined by names below its prefix.
   */
  defineBlock(template: StatTemplate, prefix: string): number;
  releaseBlock(base: number): void;
  /** Defines or finds a statistic by its whole name. Not for the hot path: keep the index. */
  defineCounter(name: string): number;
  defineGauge(name: string): number;
  defineHistogram(name: string): number;
  /** Takes back one definition by this name: the statistic goes with the last one. */
  releaseNamed(name: string): void;
  increment(index: number): void;
  add(index: number, amount: number): void;
  subtract(index: number, amount: number): void;
  setGauge(index: number, value: number): void;
  /** Records one value of a histogram, in the unit of its specification. */
  record(index: number, value: number): void;
  /** A sampled request that stands for a recorded value. Absent: nobody asks for them. */
  exemplify?(exemplar: Exemplar): void;
  /** This process's own current value of a gauge or unflushed count of a counter. */
  valueOf(index: number): number;
}
