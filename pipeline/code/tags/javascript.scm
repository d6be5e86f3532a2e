; JavaScript, and what TypeScript shares with it

(class_declaration name: (_) @name body: (class_body) @body) @class
(function_declaration name: (_) @name body: (_) @body) @function
(generator_function_declaration name: (_) @name body: (_) @body) @function
(method_definition
  name: [(property_identifier) (private_property_identifier) (string)] @name body: (_) @body) @method
(variable_declarator
  name: (identifier) @name
  value: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]) @function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @class
(pair
  key: [(property_identifier) (string)] @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method
(assignment_expression
  left: (identifier) @name
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function
(assignment_expression
  left: (member_expression object: (_) @receiver property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function

(variable_declarator name: (identifier) @name value: (object)) @scope
(pair key: (property_identifier) @name value: (object)) @scope

(export_statement declaration: (_) @inner) @wrapper
(lexical_declaration . (variable_declarator) @inner .) @wrapper
(variable_declaration . (variable_declarator) @inner .) @wrapper
(expression_statement (assignment_expression) @inner) @wrapper

(comment) @comment
(decorator) @attribute

(import_statement source: (string) @module) @import
(import_statement (import_clause (identifier) @imported) source: (string) @module) @import
(import_statement
  (import_clause (named_imports (import_specifier name: (_) @imported))) source: (string) @module) @import
(export_statement source: (string) @module) @import
((call_expression function: (identifier) @_function arguments: (arguments . (string) @module)) @import
  (#eq? @_function "require"))
((variable_declarator
  name: (object_pattern
    [(shorthand_property_identifier_pattern) @imported (pair_pattern key: (property_identifier) @imported)])
  value: (call_expression function: (identifier) @_function arguments: (arguments . (string) @module))) @import
  (#eq? @_function "require"))
(call_expression function: (import) arguments: (arguments . (string) @module)) @import

((call_expression function: (identifier) @callee) (#not-eq? @callee "require"))
(call_expression
  function: (member_expression property: [(property_identifier) (private_property_identifier)] @callee))
(new_expression constructor: (identifier) @callee)
(new_expression constructor: (member_expression property: (property_identifier) @callee))
