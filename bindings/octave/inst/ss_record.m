function ss_record(w, path, every, settings)
% ss_record(w, path, every, settings)   records a simulation as frames in an HDF5 file
%
% ss_record(w, 'run.h5') begins: every step from now on becomes a frame with its answer, its metrics and
% the shapes for `stickslip view`. ss_record(w, 'run.h5', 10) records every tenth step.
% ss_record(w) ends it and puts the file in its place.
%
% settings say how the recording is kept, as text: 'survive=60' (s; what is older can be recovered with
% `stickslip recover` if Octave dies; 5 without it), or, for a flight recorder that writes only the last
% steps before something trips, 'ring=500 trip=energy>1e-3 trip=nan after=20'.
%
% Example:
%   w = ss_world('sphere-drop');
%   ss_record(w, 'drop.h5');
%   ss_step(w, 100);
%   ss_record(w);
%
% Example:
%   w = ss_world('sphere-drop');
%   ss_record(w, 'incident.h5', 1, 'ring=50 trip=speed>2');
%   ss_step(w, 100);
%   ss_record(w);
%
% See also ss_step
  if nargin == 1
    stickslip_mex('world_record', w.id);
    return
  end
  ss_begin(w);
  if nargin < 3
    every = 1;
  end
  if nargin < 4
    settings = '';
  end
  stickslip_mex('world_record', w.id, path, every, settings);
end
