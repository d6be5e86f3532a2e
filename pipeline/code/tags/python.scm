; Python

(class_definition name: (identifier) @name body: (block) @body) @class
(function_definition name: (identifier) @name body: (block) @body) @function

(decorated_definition definition: (_) @inner) @wrapper
(comment) @comment

(module . (comment)* . (expression_statement . (string) @doc .)) @documented
(class_definition body: (block . (comment)* . (expression_statement . (string) @doc .))) @documented
(function_definition body: (block . (comment)* . (expression_statement . (string) @doc .))) @documented

(import_statement name: (dotted_name) @module) @import
(import_statement name: (aliased_import name: (dotted_name) @module)) @import
(import_from_statement module_name: (_) @module) @import
(import_from_statement module_name: (_) @module name: (dotted_name) @imported) @import
(import_from_statement module_name: (_) @module name: (aliased_import name: (dotted_name) @imported)) @import
(import_from_statement module_name: (_) @module (wildcard_import) @imported) @import

(call function: (identifier) @callee)
(call function: (attribute attribute: (identifier) @callee))
