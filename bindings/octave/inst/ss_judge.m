function [metrics, details, contacts] = ss_judge(frame, answer, varargin)
% metrics = ss_judge(frame, answer)              every metric of an answer, by its name; NaN = does not apply
% metrics = ss_judge(frame, answer, options)     formulation, with: the rules that the answer was made by;
%                                                reference: a true answer, for the metrics distance and trust
% [metrics, details, contacts] = ss_judge(...)   details: a struct array with name, value, unit, applies, why,
%                                                worst_contact, worst_constraint (from 1, 0 = none);
%                                                contacts: status (cells), sliding velocity, energy error of each
%
% The answer is what ss_recover or ss_solve returned, or a field of frame.solver_data. It is measured against
% Newton's and Coulomb's laws, whatever formulation made it (docs/metrics.md); the formulation's options say only
% how gaps and joint errors are treated. They are taken from the answer's fields formulation and with, if it has
% them, and are those of 'cone' otherwise.
%
% Example:
%   problem = ss_problem(frame, 'stewart-trinkle');
%   x = my_solver(problem.A, problem.b);
%   metrics = ss_judge(frame, ss_recover(problem, x));
%   metrics.energy     % J
%
% See also ss_metrics, coulomb_metrics
  options = struct('formulation', 'cone', 'with', '', 'reference', []);
  if isfield(answer, 'formulation') && isfield(answer, 'with')
    options.formulation = answer.formulation;
    options.with = answer.with;
  end
  options = ss_arguments('ss_judge', options, varargin);
  [metrics, details, contacts] = stickslip_mex('judge', frame, options.formulation, ss_text(options.with), answer, ...
                                               options.reference);
end
