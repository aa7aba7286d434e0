/** An expression as read. Offsets count from 0 into its text, for messages. */
export type Node =
  | {
      readonly kind: 'literal';
      readonly value: string | number | bigint | boolean | null;
      readonly offset: number;
    }
  | { readonly kind: 'list'; readonly items: readonly Node[]; readonly offset: number }
  | { readonly kind: 'root'; readonly name: string; readonly offset: number }
  /** `a.name` is `a["name"]`. */
  | { readonly kind: 'index'; readonly object: Node; readonly key: Node; readonly offset: number }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Node[]; readonly offset: number }
  | { readonly kind: 'unary'; readonly operator: '!' | '-'; readonly operand: Node; readonly offset: number }
  | {
      readonly kind: 'binary';
      readonly operator: string;
      readonly left: Node;
      readonly right: Node;
      readonly offset: number;
    }
  | {
      readonly kind: 'conditional';
      readonly test: Node;
      readonly yes: Node;
      readonly no: Node;
      readonly offset: number;
    };

/** The nodes directly below. */
export function children(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'literal':
    case 'root':
      return [];
    case 'list':
      return node.items;
    case 'index':
      return [node.object, node.key];
    case 'call':
      return node.args;
    case 'unary':
      return [node.operand];
    case 'binary':
      return [node.left, node.right];
    case 'conditional':
      return [node.test, node.yes, node.no];
  }
}
