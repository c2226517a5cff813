import { randomInt } from 'node:crypto';

const qualities =
  'amber able bold brave brisk calm clear clever cosy crisp dapper eager early fair fine fleet fond free fresh gentle glad ' +
  'golden good grand green handy happy hardy honest jolly keen kind lively lucky merry mild neat nimble noble patient plain ' +
  'polite proud quick quiet ready silver simple sleek small smart snug solid sound steady sunny swift tidy true warm wise young';
const things =
  'acorn anchor apple arrow badger beacon birch bridge brook canyon cedar cloud comet coral crane delta dune eagle ember falcon ' +
  'fern field finch forest fox garden glade harbor hare hawk heron hill island ivy lake lark lemon maple meadow moon mountain oak ' +
  'ocean orchard otter owl pebble pine planet plum pond raven reef river robin sparrow spring star stone stream summit swan thrush ' +
  'tiger valley willow';

const first = qualities.split(' ');
const second = things.split(' ');
const numbers = 10_000;

/** Two words and a number, such as `calm-otter-4711`. */
export function madeUpName(): string {
  return `${first[randomInt(first.length)]}-${second[randomInt(second.length)]}-${randomInt(numbers)}`;
}
