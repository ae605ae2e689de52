function gauges = ss_measure(problem, x)
% gauges = ss_measure(problem, x)   errors of x as a solution of a problem, by its own laws
%
% energy (J), relative_energy (1), natural_residual, fischer_burmeister (mixed units) and natural_map (1), the
% measures that stop rules use at each iteration. NaN = does not apply. The problem comes from ss_problem, or is a
% struct with A and b (an LCP), or with lower, upper and blocks as well.
%
% Example:
%   gauges = ss_measure(struct('A', [2 1; 1 2], 'b', [-1; -1]), [1/3; 1/3])
%
% See also ss_problem, ss_judge
  gauges = stickslip_mex('measure', ss_subject(problem), x);
end
