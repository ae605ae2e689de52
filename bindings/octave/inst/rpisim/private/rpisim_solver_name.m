function [name, own, iterations] = rpisim_solver_name(solver)
% rpisim_solver_name  What sim.H_solver stands for: a solver of the library and its iterations per step, or the user's own.
  table = {
    'Lemke',         'lemke',          100000
    'lemke',         'lemke',          100000
    'pathsolver',    'path',           100000
    'pathlcp',       'path',           100000
    'pathmcp',       'path',           100000
    'PATH',          'path',           100000
    'pgs',           'pgs',            100
    'psor',          'psor',           100
    'multilevel',    'psor',           100
    'jacobi',        'jacobi',         100
    'prox_LCP',      'projected-fixed-point',           100
    'prox_NCP',      'projected-fixed-point',           200
    'fischer_newton', 'fischer-newton', 100
    'minmap_newton', 'minmap-newton',  100
    'ip_lcp',        'interior-point', 100
    'qp_lcp',        'qp',             1000
    };
  own = rpisim_is_own(solver);
  name = '';
  iterations = 0;
  if own
    return
  end
  if ischar(solver)
    given = solver;
  else
    given = strrep(func2str(solver), '@', '');
  end
  k = find(strcmp(given, table(:, 1)), 1);
  if ~isempty(k)
    name = table{k, 2};
    iterations = table{k, 3};
    return
  end
  known = ss_solvers();
  if any(strcmp(given, {known.name}))
    name = given;
    iterations = 10000;
    return
  end
  error('stickslip:usage', 'H_solver: ''%s'' is neither a function nor a solver of RPIsim or of this library', given);
end
