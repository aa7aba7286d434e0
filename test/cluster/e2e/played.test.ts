import { playedCases } from '../../support/golden/cases';
import { playGolden } from './stage/golden-play';

const cases = playedCases().filter(({ knob }) => knob === undefined);

it.each(cases)('$name: $about', (one) => playGolden(one));
